/** Times and amounts for people. */
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Returns how long ago a time was, such as `5m`, or how long it is until then, such as `in 5m`. */
export function ago(time: string | null, now: number = Date.now()): string | null {
  if (time === null) return null;
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return null;
  return seconds < 0 ? `in ${span(-seconds)}` : span(seconds);
}

/** Returns a number of seconds in its largest unit. */
export function span(seconds: number): string {
  if (seconds < minute) return `${Math.floor(seconds)}s`;
  if (seconds < hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < day) return `${Math.floor(seconds / hour)}h`;
  return `${Math.floor(seconds / day)}d`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const yesNo = (value: boolean): string => (value ? 'yes' : 'no');
