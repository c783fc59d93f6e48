#!lua
-- Reads tokens of one user after giving back the user's expired reservations.
-- KEYS     user, its reservations, the tokens, and other tokens whose reservations may be given back
-- ARGV     how many tokens to read; time, or '' to leave reservations alone
-- Returns  {user enabled, then for each token its fields and values, none if there is no such token}; or {'more keys', token ids...}
--!include _clock
--!include _budget
--!include _give_back
if ARGV[2] ~= '' then
  local _, missing = give_back(KEYS[1], KEYS[2], tokens_from(3), (clock(ARGV[2])))
  if missing then return more_keys(missing) end
end
local reply = { redis.call('HGET', KEYS[1], 'enabled') }
for i = 1, tonumber(ARGV[1]) do
  reply[1 + i] = redis.call('HGETALL', KEYS[2 + i])
end
return reply
