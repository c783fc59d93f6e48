-- The time in ms, by this server's clock, so that nodes with different clocks decide alike. `told` is the time by the caller's
-- clock; with a leading `=` it is used as is, for tests that set the clock. The second result is how far the caller is behind.
local server_ms
local function clock(told)
  local now = tonumber(string.match(told, '^=(%d+)$'))
  if now then return now, 0 end
  if not server_ms then
    local time = redis.call('TIME')
    server_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return server_ms, server_ms - tonumber(told)
end
