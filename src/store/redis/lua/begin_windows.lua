#!lua
-- Begins new windows for budgets whose last ones have ended. Reservations that are not settled yet count in the new windows.
-- KEYS     user, its reservations, one of its tokens
-- ARGV     time, then for the user and for the token: period, zone and end of the window; '' three times if none is wanted
-- Returns  1
--!include _clock
--!include _budget
local now = clock(ARGV[1])

-- The total of the user's reservations, or of those of one token.
local function reserved(token_id)
  local units = 0
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local id, amount = string.match(member, '^(%d+):[01]:(%d+):')
    if id and (not token_id or id == token_id) then units = units + tonumber(amount) end
  end
  return string.format('%.0f', units)
end

local function begin(key, first, token_id)
  local period, zone, ends = ARGV[first], ARGV[first + 1], tonumber(ARGV[first + 2])
  if not ends or now >= ends then return end
  local in_force, zone_in_force = terms_of(key)
  if in_force ~= period or zone_in_force ~= zone then return end
  if now < tonumber(redis.call('HGET', key, 'until') or 0) then return end
  redis.call('HSET', key, 'until', string.format('%.0f', ends), 'spent', reserved(token_id))
end

begin(KEYS[1], 2)
begin(KEYS[3], 5, string.match(KEYS[3], ':(%d+)$'))
return 1
