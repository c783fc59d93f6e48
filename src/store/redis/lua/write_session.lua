#!lua
-- Writes a session of a user, and drops expired ones.
-- KEYS     the sessions of the user, what is known about them
-- ARGV     session id, kind, when it was created, expires and ends, all by the caller's clock, time, where it was made from,
--          then, for a session that is made by another login, the id of that login and the kind of which all sessions end
-- Returns  the ids of the sessions of that kind that were ended; nil if that other login no longer exists
--!include _clock
local now, behind = clock(ARGV[6])
local function forget(id)
  redis.call('HDEL', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id, id .. ':used')
end
local sessions = redis.call('HGETALL', KEYS[1])
for i = 1, #sessions, 2 do
  local expires = string.match(sessions[i + 1], '^[^:]*:%d+:(%d+):')
  if tonumber(expires) <= now then forget(sessions[i]) end
end
local ended = {}
if ARGV[8] then
  if redis.call('HEXISTS', KEYS[1], ARGV[8]) == 0 then return false end
  sessions = redis.call('HGETALL', KEYS[1])
  for i = 1, #sessions, 2 do
    if string.match(sessions[i + 1], '^[^:]*') == ARGV[9] then
      forget(sessions[i])
      ended[#ended + 1] = sessions[i]
    end
  end
end
local record = ARGV[2]
for i = 3, 5 do
  record = record .. ':' .. string.format('%.0f', tonumber(ARGV[i]) + behind)
end
redis.call('HSET', KEYS[1], ARGV[1], record)
redis.call('HSET', KEYS[2], ARGV[1], ARGV[7])
return ended
