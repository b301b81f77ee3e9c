--- Which verified fixes are there, and how is one applied?

local edits = require('regreen.edits')
local reds = require('regreen.reds')
local server = require('regreen.server')

local M = {}

local KIND = 'quickfix.regreen'

---@class regreen.Fix
---@field id string
---@field title string
---@field preferred boolean passed everything; the server would apply it with one key

--- The fixes within reach of some lines.
---@param client vim.lsp.Client
---@param uri string
---@param first integer 0-based
---@param last integer 0-based, inclusive
---@param done fun(fixes: regreen.Fix[])
local function within(client, uri, first, last, done)
  local params = {
    textDocument = { uri = uri },
    range = { start = { line = first, character = 0 }, ['end'] = { line = last + 1, character = 0 } },
    context = { diagnostics = {}, only = { KIND }, triggerKind = 1 },
  }
  client:request('textDocument/codeAction', params, function(err, actions)
    if err then
      return server.say(err.message, vim.log.levels.ERROR)
    end
    local fixes = {}
    for _, action in ipairs(actions or {}) do
      local id = type(action.data) == 'table' and action.data.fix
      if id then
        fixes[#fixes + 1] = { id = id, title = action.title, preferred = action.isPreferred or false }
      end
    end
    done(fixes)
  end)
end

--- Every fix that may be meant: those at the cursor, then the rest of the file; if there are none, the first elsewhere.
---@param client vim.lsp.Client
---@param done fun(fixes: regreen.Fix[], here: integer) `here`: how many of them are at the cursor
function M.list(client, done)
  local bufnr = vim.api.nvim_get_current_buf()
  local lnum = vim.api.nvim_win_get_cursor(0)[1] - 1
  local uri = vim.uri_from_bufnr(bufnr)

  local function elsewhere()
    local places = vim.tbl_filter(function(red)
      return red.fix
    end, reds.all())
    if not places[1] then
      return done({}, 0)
    end
    within(client, vim.uri_from_bufnr(places[1].bufnr), places[1].lnum, places[1].lnum, function(fixes)
      done(fixes, #fixes)
    end)
  end

  if not vim.lsp.buf_is_attached(bufnr, client.id) then
    return elsewhere()
  end
  within(client, uri, lnum, lnum, function(fixes)
    local seen = {}
    for _, fix in ipairs(fixes) do
      seen[fix.id] = true
    end
    local here = #fixes
    within(client, uri, 0, vim.api.nvim_buf_line_count(bufnr), function(rest)
      for _, fix in ipairs(rest) do
        if not seen[fix.id] then
          fixes[#fixes + 1] = fix
        end
      end
      if #fixes == 0 then
        return elsewhere()
      end
      done(fixes, here)
    end)
  end)
end

--- The files of an edit, for people.
---@param edit lsp.WorkspaceEdit
---@return string
local function names(edit)
  return vim
    .iter(edit.documentChanges or {})
    :map(function(change)
      return vim.fs.basename(vim.uri_to_fname(change.textDocument.uri))
    end)
    :join(', ')
end

--- Apply a fix, if every text is still the one that it was verified against.
---@param client vim.lsp.Client
---@param id string
function M.apply(client, id)
  local action = { title = 'Apply', kind = KIND, data = { fix = id } }
  client:request('codeAction/resolve', action, function(err, resolved)
    local reason = err and err.message or edits.apply(resolved.edit, client.offset_encoding)
    if reason then
      return server.say(('nothing was changed: %s'):format(reason), vim.log.levels.WARN)
    end
    server.say(('changed %s; save to see the tests run, `u` takes it back'):format(names(resolved.edit)))
    server.command(client, 'fixApplied', { fix = id })
  end)
end

return M
