-- Deletes an account with its tokens and sessions, in one step.
-- KEYS[1]  the user; deletes everything below it
-- ARGV     none
-- Returns  {name, address, {token id, hash of its key, ...}, {session id, ...}}, or nil when it is not there
local user = redis.call('HMGET', KEYS[1], 'username', 'email')
if not user[1] then return false end
local tokens = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. ':ts', 0, -1)) do
  tokens[#tokens + 1] = id
  tokens[#tokens + 1] = redis.call('HGET', KEYS[1] .. ':t:' .. id, 'hash') or ''
  redis.call('DEL', KEYS[1] .. ':t:' .. id)
end
local sessions = redis.call('HKEYS', KEYS[1] .. ':s')
for _, ending in ipairs({ '', ':ts', ':r', ':s', ':o', ':c' }) do
  redis.call('DEL', KEYS[1] .. ending)
end
return { user[1], user[2], tokens, sessions }
