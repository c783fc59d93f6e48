-- Writes a session of a user, and drops those that have ended.
-- KEYS[1]  the sessions of the user
-- ARGV     session id, record `<kind>:<created ms>:<expires ms>:<ends ms>`, now ms
-- Returns  nothing
local sessions = redis.call('HGETALL', KEYS[1])
for i = 1, #sessions, 2 do
  local expires = string.match(sessions[i + 1], '^[^:]*:%d+:(%d+):')
  if tonumber(expires) <= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], sessions[i]) end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
