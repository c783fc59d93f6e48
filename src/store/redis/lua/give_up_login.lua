#!lua
-- Releases claims of an account.
-- KEYS     names, addresses, ids of accounts
-- ARGV     account id, name or '', its claim or '' for any claim of the account, address or '', its claim or '', 1 if the
--          account no longer exists
-- Returns  nothing
local function release(key, name, claim)
  local held = name ~= '' and redis.call('HGET', key, name)
  if not held or string.match(held, '^%d+') ~= ARGV[1] then return end
  if claim == '' or claim == held then redis.call('HDEL', key, name) end
end
release(KEYS[1], ARGV[2], ARGV[3])
release(KEYS[2], ARGV[4], ARGV[5])
if ARGV[6] == '1' then redis.call('ZREM', KEYS[3], ARGV[1]) end
