/**
 * Puts the clock of a process off by CHAOS_CLOCK_OFFSET_MS, and by CHAOS_CLOCK_STEP_MS more with each SIGUSR2: loaded
 * with --import. Timers go on as ever; what asks for the time of day gets another one.
 */
const RealDate = Date;
const realNow = Date.now.bind(Date);
let offsetMs = Number(process.env.CHAOS_CLOCK_OFFSET_MS ?? 0);
const stepMs = Number(process.env.CHAOS_CLOCK_STEP_MS ?? 0);

process.on('SIGUSR2', () => {
  offsetMs += stepMs;
});

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(realNow() + offsetMs);
    else super(...given);
  }

  static now() {
    return realNow() + offsetMs;
  }
};
