#!lua
-- Writes a session of a user, and drops expired ones.
-- KEYS[1]  the sessions of the user
-- ARGV     session id, kind, when it was created, expires and ends, all by the caller's clock, time, then, for a session that
--          is made by another login, the id of that login and the kind of which all sessions end
-- Returns  the ids of the sessions of that kind that were ended; nil if that other login no longer exists
--!include _clock
local now, behind = clock(ARGV[6])
local sessions = redis.call('HGETALL', KEYS[1])
for i = 1, #sessions, 2 do
  local expires = string.match(sessions[i + 1], '^[^:]*:%d+:(%d+):')
  if tonumber(expires) <= now then redis.call('HDEL', KEYS[1], sessions[i]) end
end
local ended = {}
if ARGV[7] then
  if redis.call('HEXISTS', KEYS[1], ARGV[7]) == 0 then return false end
  sessions = redis.call('HGETALL', KEYS[1])
  for i = 1, #sessions, 2 do
    if string.match(sessions[i + 1], '^[^:]*') == ARGV[8] then
      redis.call('HDEL', KEYS[1], sessions[i])
      ended[#ended + 1] = sessions[i]
    end
  end
end
local record = ARGV[2]
for i = 3, 5 do
  record = record .. ':' .. string.format('%.0f', tonumber(ARGV[i]) + behind)
end
redis.call('HSET', KEYS[1], ARGV[1], record)
return ended
