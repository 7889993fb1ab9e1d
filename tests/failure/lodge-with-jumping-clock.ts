/** A Lodge over bare guests whose own clock goes two hours ahead at the first SIGUSR2, and back at the next. */
const RealDate = Date;
const jumpMs = 2 * 60 * 60_000;
let offsetMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(RealDate.now() + offsetMs);
    else super(...given);
  }
  static override now(): number {
    return RealDate.now() + offsetMs;
  }
} as DateConstructor;

process.on('SIGUSR2', () => {
  offsetMs = offsetMs === 0 ? jumpMs : 0;
});

await import('./lodge-with-bare-guests.ts');
export {};
