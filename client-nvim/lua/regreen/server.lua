--- Who is asked, and how do we tell the user?

local M = {}

local NAME = 'regreen'

--- The server of a buffer; where it has none (a preview, a help page), the one that runs, if it is alone.
---@param bufnr? integer
---@return vim.lsp.Client?
function M.find(bufnr)
  local here = vim.lsp.get_clients({ name = NAME, bufnr = bufnr or vim.api.nvim_get_current_buf() })
  if here[1] then
    return here[1]
  end
  local all = vim.lsp.get_clients({ name = NAME })
  return #all == 1 and all[1] or nil
end

--- As `find`, but says what is missing.
---@param bufnr? integer
---@return vim.lsp.Client?
function M.require(bufnr)
  local client = M.find(bufnr)
  if not client then
    M.say('not running here; `:checkhealth regreen` tells why', vim.log.levels.WARN)
  end
  return client
end

---@param text string
---@param level? vim.log.levels
function M.say(text, level)
  vim.notify('Regreen: ' .. text, level or vim.log.levels.INFO)
end

--- Run a command of the server. A refusal is told to the user; `done` gets the answer otherwise.
---@param client vim.lsp.Client
---@param name string without "regreen.server."
---@param argument table
---@param done? fun(result: any)
function M.command(client, name, argument, done)
  local params = {
    command = 'regreen.server.' .. name,
    arguments = { next(argument) and argument or vim.empty_dict() },
  }
  client:request('workspace/executeCommand', params, function(err, result)
    if err then
      M.say(err.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end)
end

--- What names the place of the user to the server: its file, or without one its folder.
---@param client vim.lsp.Client
---@param bufnr? integer
---@return table
function M.place(client, bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  if vim.lsp.buf_is_attached(bufnr, client.id) then
    return { uri = vim.uri_from_bufnr(bufnr) }
  end
  return client.root_dir and { uri = vim.uri_from_fname(client.root_dir) } or {}
end

return M
