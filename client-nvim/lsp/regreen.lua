-- How does Neovim (0.11 and later) start Regreen? `vim.lsp.enable('regreen')` reads this file.
-- What you set with `vim.lsp.config('regreen', { … })` is laid over it.

---@type vim.lsp.Config
return {
  cmd = { 'regreen', '--stdio' },
  filetypes = { 'python' },
  -- The repository comes first: trust is given to a folder, and one server serves every project in it.
  root_markers = {
    '.git',
    { 'pyproject.toml', 'pytest.ini', '.pytest.ini', 'tox.ini', 'setup.cfg', 'setup.py', 'manage.py' },
  },
  -- A lone script has no tests: no server for it.
  workspace_required = true,
  init_options = { client = { name = 'regreen.nvim', status = true, diff = true } },
  settings = { regreen = {} },
  handlers = require('regreen.handlers').methods,
  commands = require('regreen.handlers').commands,
  on_exit = function(_, _, client_id)
    require('regreen.status').forget(client_id)
  end,
}
