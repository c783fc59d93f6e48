-- Writes a session of a user, and drops those that have ended.
-- KEYS[1]  the sessions of the user
-- ARGV     session id, record `<kind>:<created ms>:<expires ms>:<ends ms>`, now ms, then for one that is made by another
--          login: the id of that one, and the kind of which all end
-- Returns  the ids of those that ended; nil when that other login does not live
local sessions = redis.call('HGETALL', KEYS[1])
for i = 1, #sessions, 2 do
  local expires = string.match(sessions[i + 1], '^[^:]*:%d+:(%d+):')
  if tonumber(expires) <= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], sessions[i]) end
end
local ended = {}
if ARGV[4] then
  if redis.call('HEXISTS', KEYS[1], ARGV[4]) == 0 then return false end
  sessions = redis.call('HGETALL', KEYS[1])
  for i = 1, #sessions, 2 do
    if string.match(sessions[i + 1], '^[^:]*') == ARGV[5] then
      redis.call('HDEL', KEYS[1], sessions[i])
      ended[#ended + 1] = sessions[i]
    end
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ended
