--- What do users call from their configuration?

local M = {}

---@class regreen.Options
---@field cmd? string[] how to start the server; default { 'regreen', '--stdio' }
---@field settings? table<string, any> as in docs/settings.md without "regreen.": { runTests = 'manual' }
---@field preview? 'split'|'unified' how fixes are shown; default 'split': side by side, in diff mode
---@field trusted? boolean trust every folder that is opened; better: `:RegreenTrust`, once per folder

---@type regreen.Options
M.options = { preview = 'split' }

--- Set options and start the server for Python files. Without options, `vim.lsp.enable('regreen')` does it.
---@param options? regreen.Options
function M.setup(options)
  options = options or {}
  vim.validate('cmd', options.cmd, 'table', true)
  vim.validate('settings', options.settings, 'table', true)
  vim.validate('preview', options.preview, function(value)
    return value == nil or value == 'split' or value == 'unified'
  end, "'split' or 'unified'")
  vim.validate('trusted', options.trusted, 'boolean', true)

  M.options = vim.tbl_extend('force', M.options, options)
  vim.lsp.config('regreen', {
    cmd = options.cmd,
    settings = options.settings and { regreen = options.settings },
    init_options = options.trusted ~= nil and { trusted = options.trusted } or nil,
  })
  vim.lsp.enable('regreen')
end

--- A few words for a status line, about the project of a buffer; empty where Regreen is not at work.
---@param bufnr? integer default: the current buffer
---@return string
function M.status(bufnr)
  return require('regreen.status').text(bufnr)
end

return M
