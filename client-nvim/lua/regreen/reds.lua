--- Which red test does the user mean?

local M = {}

---@class regreen.Red
---@field nodeid string
---@field bufnr integer
---@field lnum integer 0-based line of the diagnostic
---@field failed boolean the place is the failure itself, not a suspect or a fix
---@field fix boolean the place is that of a verified fix

local FAILED = { ['test-failed'] = true, ['test-failed-before'] = true }

--- Every place that speaks of a red test, from the diagnostics, by file and line.
---@param bufnr? integer only of this buffer
---@return regreen.Red[]
function M.all(bufnr)
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(bufnr)) do
    local nodeid = vim.tbl_get(diagnostic, 'user_data', 'lsp', 'data', 'nodeid')
    if diagnostic.source == 'regreen' and type(nodeid) == 'string' then
      found[#found + 1] = {
        nodeid = nodeid,
        bufnr = diagnostic.bufnr,
        lnum = diagnostic.lnum,
        failed = FAILED[diagnostic.code] or false,
        fix = diagnostic.code == 'verified-fix',
      }
    end
  end
  table.sort(found, function(one, other)
    if one.bufnr ~= other.bufnr then
      return vim.api.nvim_buf_get_name(one.bufnr) < vim.api.nvim_buf_get_name(other.bufnr)
    end
    return one.lnum < other.lnum
  end)
  return found
end

--- The name of the function around a line, by indentation: good enough to tell two tests apart.
---@param bufnr integer
---@param lnum integer 0-based
---@return string?
local function function_at(bufnr, lnum)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, lnum + 1, false)
  local limit = math.huge
  for at = #lines, 1, -1 do
    local indent, name = lines[at]:match('^(%s*)def%s+([%w_]+)')
    if not name then
      indent, name = lines[at]:match('^(%s*)async%s+def%s+([%w_]+)')
    end
    if name and (#indent < limit or at == #lines) then
      return name
    end
    if lines[at]:match('%S') then
      limit = math.min(limit, #lines[at]:match('^%s*'))
    end
  end
end

--- The red test at a line: of the function around it, else the nearest in the file, else the first anywhere.
---@param bufnr integer
---@param lnum integer 0-based
---@return regreen.Red?
function M.at(bufnr, lnum)
  local name = function_at(bufnr, lnum)
  local best, distance = nil, math.huge
  for _, red in ipairs(M.all(bufnr)) do
    local away = math.abs(red.lnum - lnum)
    if name and red.nodeid:gsub('%[.*$', ''):match('[^:]+$') == name then
      away = away - 1e6
    end
    if away < distance then
      best, distance = red, away
    end
  end
  if best then
    return best
  end
  local everywhere = M.all()
  for _, red in ipairs(everywhere) do
    if red.failed then
      return red
    end
  end
  return everywhere[1]
end

--- The node ids of all red tests that begin with what was typed.
---@param lead string
---@return string[]
function M.complete(lead)
  local names = {}
  for _, red in ipairs(M.all()) do
    if vim.startswith(red.nodeid, lead) and not vim.list_contains(names, red.nodeid) then
      names[#names + 1] = red.nodeid
    end
  end
  table.sort(names)
  return names
end

return M
