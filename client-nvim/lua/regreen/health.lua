--- `:checkhealth regreen`: is everything there that Regreen needs, and if not, what helps?

local M = {}

local health = vim.health
local SECONDS = 20

--- Run a program to its end.
---@param command string[]
---@return string? stdout
---@return string? problem
local function run(command)
  local started, process = pcall(vim.system, command, { text = true, timeout = SECONDS * 1000 })
  if not started then
    return nil, tostring(process)
  end
  local result = process:wait()
  if result.stdout and result.stdout ~= '' then
    return result.stdout
  end
  return nil, vim.trim(result.stderr or '') ~= '' and vim.trim(result.stderr) or ('exit status %d'):format(result.code)
end

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old', 'Regreen needs 0.11 or later.')
  end
end

--- The program that is started as the server; nil when there is none to be found.
---@return string?
local function check_server()
  local config = vim.lsp.config.regreen
  if not config or not config.cmd then
    health.error('the configuration `lsp/regreen.lua` is not found', "Put client-nvim on 'runtimepath'.")
    return nil
  end
  if type(config.cmd) ~= 'table' then
    health.ok('the server is reached by a function of yours')
    return nil
  end
  local program = config.cmd[1]
  local found = vim.fn.exepath(program)
  if found == '' then
    health.error(('the server `%s` is not found'):format(program), {
      'Install it, apart from your projects: `uv tool install regreen` or `pipx install regreen`.',
      "Or name it: `vim.lsp.config('regreen', { cmd = { '/path/to/regreen', '--stdio' } })`.",
    })
    return nil
  end
  local command = vim.list_slice(config.cmd)
  table.remove(command, vim.fn.index(command, '--stdio') + 1)
  local version, problem = run(vim.list_extend(vim.list_slice(command), { '--version' }))
  if version then
    health.ok(('server: %s (%s)'):format(vim.trim(version), found))
  else
    health.error(('the server %s does not start: %s'):format(found, problem))
  end
  return version and command or nil
end

local function check_enabled()
  if vim.lsp.is_enabled('regreen') then
    health.ok('enabled for Python files')
  else
    health.warn('not enabled', "Call `vim.lsp.enable('regreen')` or `require('regreen').setup()`.")
  end
end

--- What the command line knows of a project. It starts the project's interpreter, so only where that is trusted.
---@param doctor string[] the server's command
---@param root string
---@param client vim.lsp.Client
local function check_project(doctor, root, client)
  local command = vim.list_extend(vim.list_slice(doctor), { 'doctor', root, '--json' })
  local interpreter = vim.tbl_get(client.settings or {}, 'regreen', 'interpreter')
  if type(interpreter) == 'string' and interpreter ~= '' then
    vim.list_extend(command, { '--interpreter', interpreter })
  end
  local out, problem = run(command)
  local read, report = pcall(vim.json.decode, out or '', { luanil = { object = true } })
  if not read or type(report) ~= 'table' then
    return health.error('`regreen doctor` does not answer: ' .. (problem or out or ''))
  end
  for _, project in ipairs(report.projects or {}) do
    for _, item in ipairs(project.items) do
      -- Trust is told by the server: the editor may trust what the command line's list does not have.
      if item.name ~= 'trust' and item.name ~= 'project' then
        local text = ('%s: %s'):format(item.name, item.value)
        if item.ok then
          health.ok(item.hint and ('%s (%s)'):format(text, item.hint) or text)
        else
          health.error(text, item.hint and { item.hint } or nil)
        end
      end
    end
  end
end

---@param client vim.lsp.Client
---@param doctor string[]?
local function check_client(client, doctor)
  health.start(('regreen: %s'):format(client.root_dir or 'no folder'))
  local params = { command = 'regreen.server.status', arguments = { vim.empty_dict() } }
  local answer, problem = client:request_sync('workspace/executeCommand', params, SECONDS * 1000)
  if not answer or answer.err then
    return health.error('the server does not answer: ' .. (problem or answer.err.message))
  end
  local projects = answer.result.projects
  if #projects == 0 then
    health.warn('no project with tests is known yet', 'Open one of its Python files.')
  end
  for _, project in ipairs(projects) do
    local root = vim.uri_to_fname(project.root)
    if project.state == 'untrusted' then
      health.warn(('%s is not trusted: nothing of it runs'):format(root), '`:RegreenTrust`')
    elseif project.state == 'disabled' then
      health.warn(('%s: switched off by `regreen.enable`'):format(root))
    else
      local level = project.state == 'problem' and health.error or health.ok
      level(('%s is trusted, %s%s'):format(root, project.state, project.message ~= '' and ': ' .. project.message or ''))
      if doctor then
        check_project(doctor, root, client)
      end
    end
  end
end

--- Called by `:checkhealth`.
function M.check()
  health.start('regreen')
  check_neovim()
  local doctor = check_server()
  check_enabled()
  local clients = vim.lsp.get_clients({ name = 'regreen' })
  if #clients == 0 then
    health.info('no server runs now: it starts with the first Python file of a project')
  end
  for _, client in ipairs(clients) do
    check_client(client, doctor)
  end
end

return M
