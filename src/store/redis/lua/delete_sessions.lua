#!lua
-- Ends the sessions of a user.
-- KEYS     the sessions of the user, what is known about them
-- ARGV     the kind to end, or '' for all
-- Returns  the ids of the ended sessions
local ended = {}
local sessions = redis.call('HGETALL', KEYS[1])
for i = 1, #sessions, 2 do
  if ARGV[1] == '' or string.match(sessions[i + 1], '^[^:]*') == ARGV[1] then
    redis.call('HDEL', KEYS[1], sessions[i])
    redis.call('HDEL', KEYS[2], sessions[i], sessions[i] .. ':used')
    ended[#ended + 1] = sessions[i]
  end
end
return ended
