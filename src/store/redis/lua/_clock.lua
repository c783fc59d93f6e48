-- The time in ms: of this server, so that nodes whose clocks differ judge alike. `told` is what the caller takes it for;
-- with a leading `=` it is believed, for tests that turn the clock. The second result is how far the caller is behind.
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
