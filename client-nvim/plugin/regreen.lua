-- Defines the commands. Nothing else is loaded before one of them is used or the server starts.

if vim.g.loaded_regreen then
  return
end
vim.g.loaded_regreen = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('Regreen needs Neovim 0.11 or later', vim.log.levels.WARN)
  return
end

require('regreen.commands').define()
