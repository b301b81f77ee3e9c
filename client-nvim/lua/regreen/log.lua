--- What did the server say lately? Neovim's own log leaves out what is no warning.

local M = {}

local KEPT = 1000
local LEVELS = { 'error', 'warning', 'info', 'log', 'debug' }

---@type string[]
local lines = {}

--- Takes a `window/logMessage` notification.
---@param params lsp.LogMessageParams
function M.keep(params)
  for _, line in ipairs(vim.split(vim.trim(params.message), '\n')) do
    lines[#lines + 1] = ('%s %-7s %s'):format(os.date('%H:%M:%S'), LEVELS[params.type] or '', line)
  end
  if #lines > 2 * KEPT then -- cut seldom: each cut copies
    lines = vim.list_slice(lines, #lines - KEPT + 1)
  end
end

--- What was kept, oldest first.
---@return string[]
function M.lines()
  return vim.list_slice(lines)
end

--- Shows the log, with the place of Neovim's own above it.
function M.show()
  local page = { '# The rest, with what the server wrote to stderr: ' .. vim.lsp.log.get_filename(), '' }
  vim.list_extend(page, #lines > 0 and lines or { 'Nothing yet.' })
  local win = require('regreen.page').show('log', page, 'conf')
  vim.api.nvim_win_set_cursor(win, { #page, 0 })
end

return M
