--- What is Regreen doing in the project of a buffer?

local M = {}

---@class regreen.Status
---@field root string URI of the project
---@field state 'idle'|'running'|'healing'|'untrusted'|'disabled'|'problem'
---@field message string
---@field red integer red tests
---@field fixes integer red tests with a verified fix
---@field autoHeal boolean

---@type table<integer, table<string, regreen.Status>> by client, then by the project's folder
local known = {}

local WORDS = {
  running = 'testing…',
  healing = 'looking for a fix…',
  untrusted = 'not trusted',
  disabled = 'off',
  problem = 'problem',
}

--- Takes a `regreen/status` notification.
---@param status regreen.Status
---@param client_id integer
function M.keep(status, client_id)
  known[client_id] = known[client_id] or {}
  known[client_id][vim.uri_to_fname(status.root)] = status
  vim.api.nvim_exec_autocmds('User', { pattern = 'RegreenStatus', data = status, modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

--- Forgets a server that ended.
---@param client_id integer
function M.forget(client_id)
  known[client_id] = nil
end

--- The status of the project that holds a buffer's file; of the only project where the buffer has no file in one.
---@param bufnr? integer
---@return regreen.Status?
function M.get(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  local file = vim.api.nvim_buf_get_name(bufnr)
  local best, depth = nil, -1
  for _, client in ipairs(vim.lsp.get_clients({ name = 'regreen', bufnr = bufnr })) do
    for root, status in pairs(known[client.id] or {}) do
      if #root > depth and vim.fs.relpath(root, file) then
        best, depth = status, #root
      end
    end
  end
  return best
end

--- Words for a status line: "regreen: 2 red, 1 fix".
---@param bufnr? integer
---@return string
function M.text(bufnr)
  local status = M.get(bufnr)
  if not status then
    return ''
  end
  local words = WORDS[status.state]
  if not words then
    local red = status.red > 0 and ('%d red'):format(status.red)
    local fixes = status.fixes > 0 and (', %d fix%s'):format(status.fixes, status.fixes > 1 and 'es' or '')
    -- Before the first run nothing is known: "all green" would be a lie.
    words = red and red .. (fixes or '') or status.message
  end
  local text = words ~= '' and 'regreen: ' .. words or 'regreen'
  return status.autoHeal and text .. ' (auto)' or text
end

return M
