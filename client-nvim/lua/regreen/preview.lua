--- What would a fix change? Shows it beside the text as it is, or as a unified diff, and takes the user's answer.

local fixes = require('regreen.fixes')
local page = require('regreen.page')
local server = require('regreen.server')

local M = {}

---@class regreen.Preview
---@field client vim.lsp.Client
---@field fixes regreen.Fix[]
---@field at integer which of them is shown
---@field view 'split'|'unified'
---@field origin integer the window that the user came from
---@field buffers integer[]

---@type regreen.Preview?
local shown

local function close()
  if not shown then
    return
  end
  local preview = shown
  shown = nil
  for _, buf in ipairs(preview.buffers) do
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true }) -- takes its window along
    end
  end
  if vim.api.nvim_win_is_valid(preview.origin) then
    vim.api.nvim_set_current_win(preview.origin)
  end
end

local show

---@param preview regreen.Preview
local function keys(preview)
  local map = {
    a = function()
      close()
      fixes.apply(preview.client, preview.fixes[preview.at].id)
    end,
    n = function()
      if #preview.fixes == 1 then
        return server.say('there is no other fix')
      end
      preview.at = preview.at % #preview.fixes + 1
      show(preview)
    end,
    s = function()
      preview.view = preview.view == 'split' and 'unified' or 'split'
      show(preview)
    end,
    q = close,
  }
  local described = { a = 'Apply this fix', n = 'Next fix', s = 'The other view', q = 'Discard' }
  for _, buf in ipairs(preview.buffers) do
    for key, action in pairs(map) do
      vim.keymap.set('n', key, action, { buffer = buf, nowait = true, desc = described[key] })
    end
    -- Closing one window by hand closes the preview, unless another one took its place by then.
    local function gone()
      if shown and vim.list_contains(shown.buffers, buf) then
        close()
      end
    end
    vim.api.nvim_create_autocmd('BufWipeout', { buffer = buf, once = true, callback = vim.schedule_wrap(gone) })
  end
end

---@param preview regreen.Preview
---@param title string
---@return string[]
local function header(preview, title)
  local other = preview.view == 'split' and 'as a unified diff' or 'side by side'
  local count = #preview.fixes > 1 and ('fix %d of %d · '):format(preview.at, #preview.fixes) or ''
  local next_key = #preview.fixes > 1 and 'n next · ' or ''
  return { '# ' .. title, ('# %sa apply · %ss %s · q discard'):format(count, next_key, other) }
end

---@param text string
---@return string[]
local function lines_of(text)
  local lines = vim.split(text:gsub('\r\n?', '\n'), '\n')
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  return lines
end

--- The first line (1-based) in which two texts differ.
local function first_difference(before, after)
  for at, line in ipairs(before) do
    if line ~= after[at] then
      return at
    end
  end
  return #before
end

---@param win integer
---@param winbar string
local function plain(win, winbar)
  vim.wo[win].winbar = winbar
  vim.wo[win].spell = false
  vim.wo[win].list = false
end

local function lay_unified(head, diff)
  local lines = vim.list_extend(head, lines_of(diff))
  local buf = page.buffer('fix', lines, 'diff')
  local height = math.max(5, math.min(#lines, math.floor(vim.o.lines * 2 / 3)))
  plain(vim.api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height }), '')
  return { buf }
end

--- A tab: the title across the top, below it the text as it is and the text with the fix.
local function lay_split(head, file, root)
  local path = vim.uri_to_fname(file.uri)
  local name = (root and vim.fs.relpath(root, path) or path):gsub('%%', '%%%%')
  local syntax = vim.filetype.match({ filename = path }) or 'python'
  local before, after = lines_of(file.before), lines_of(file.after)
  local buffers = {
    page.buffer('now', before, syntax),
    page.buffer('fixed', after, syntax),
    page.buffer('fix', head, 'conf'),
  }

  vim.cmd('tab split')
  local left = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(left, buffers[1])
  local top = vim.api.nvim_open_win(buffers[3], false, { split = 'above', win = -1, height = #head })
  local right = vim.api.nvim_open_win(buffers[2], true, { split = 'right', win = left })
  plain(left, 'now: ' .. name)
  plain(right, 'with the fix: ' .. name)
  plain(top, '')
  vim.wo[top].winfixheight = true
  vim.wo[top].number, vim.wo[top].relativenumber, vim.wo[top].signcolumn = false, false, 'no'
  for _, win in ipairs({ left, right }) do
    vim.api.nvim_win_call(win, vim.cmd.diffthis)
  end
  vim.api.nvim_win_set_cursor(right, { math.min(first_difference(before, after), #after), 0 })
  vim.cmd('normal! zz')
  return buffers
end

---@param preview regreen.Preview
show = function(preview)
  server.command(preview.client, 'diff', { fix = preview.fixes[preview.at].id }, function(fix)
    close()
    if type(fix) ~= 'table' then
      return server.say('this fix is no longer on offer: the text changed since', vim.log.levels.WARN)
    end
    local head = header(preview, fix.title)
    -- Several files do not fit side by side.
    if preview.view == 'split' and #fix.files == 1 then
      preview.buffers = lay_split(head, fix.files[1], preview.client.root_dir)
    else
      preview.buffers = lay_unified(head, fix.diff)
    end
    shown = preview
    keys(preview)
  end)
end

--- Show the first of some fixes; `n` goes on to the next, and from the last to the first.
---@param client vim.lsp.Client
---@param found regreen.Fix[]
---@param view? 'split'|'unified'
function M.open(client, found, view)
  close()
  show({
    client = client,
    fixes = found,
    at = 1,
    view = view or require('regreen').options.preview,
    origin = vim.api.nvim_get_current_win(),
    buffers = {},
  })
end

return M
