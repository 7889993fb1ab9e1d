/** The meaning of a cron expression, in a sentence. */
const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const dayShort = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const monthShort = monthNames.map((name) => name.slice(0, 3).toUpperCase());

const isNumber = (field: string): boolean => /^\d{1,2}$/.test(field);
const two = (number: string): string => number.padStart(2, '0');

/** `a`, `a and b`, `a, b and c`. */
export function joined(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** Numbers and ranges of a field by name, such as `Monday to Friday`; null where it has more than these. */
function named(field: string, nameOf: (part: string) => string | undefined): string | null {
  const words = field.split(',').map((part) => {
    const [from = '', to, ...rest] = part.split('-');
    const names = [from, ...(to === undefined ? [] : [to])].map(nameOf);
    return rest.length > 0 || names.includes(undefined) ? null : names.join(' to ');
  });
  return words.includes(null) ? null : joined(words as string[]);
}

const dayOf = (part: string): string | undefined =>
  dayNames[/^[0-7]$/.test(part) ? Number(part) : dayShort.indexOf(part.toUpperCase())];
const monthOf = (part: string): string | undefined =>
  monthNames[isNumber(part) ? Number(part) - 1 : monthShort.indexOf(part.toUpperCase())];

const stepOf = (field: string): number | null => {
  const [, step] = /^\*\/(\d{1,2})$/.exec(field) ?? [];
  return step === undefined ? null : Number(step);
};
const every = (count: number, unit: string): string => (count === 1 ? `every ${unit}` : `every ${count} ${unit}s`);

function timeWords(minute: string, hour: string): string {
  const hours = hour.split(',');
  if (isNumber(minute) && hours.every(isNumber))
    return `at ${joined(hours.map((one) => `${two(one)}:${two(minute)}`))}`;
  const minuteStep = minute === '*' ? 1 : stepOf(minute);
  const hourStep = hour === '*' ? 1 : stepOf(hour);
  if (minuteStep !== null && hour === '*') return every(minuteStep, 'minute');
  if (isNumber(minute) && hourStep !== null) {
    return minute === '0' ? every(hourStep, 'hour') : `${every(hourStep, 'hour')}, at minute ${minute}`;
  }
  const minutes = minuteStep === null ? `at minutes ${minute}` : every(minuteStep, 'minute');
  return `${minutes} of hours ${hour}`;
}

function daysWords(day: string, weekday: string): string {
  const names = weekday === '*' ? null : (named(weekday, dayOf) ?? `days ${weekday} of the week`);
  const weekly = names === 'Monday to Friday' ? 'on weekdays' : names && `on ${names}`;
  const monthly = day === '*' ? null : `on day ${day.replaceAll(',', ', ')} of the month`;
  if (monthly !== null && weekly !== null) return `${monthly}, and ${weekly}`;
  return monthly ?? weekly ?? '';
}

/** The sentence of a cron expression; null for one that has not five fields. */
export function cronWords(cron: string): string | null {
  const fields = cron.trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || weekday === undefined) return null;
  const time = timeWords(minute!, hour!);
  const days = daysWords(day!, weekday);
  const months = month === '*' ? '' : `in ${named(month!, monthOf) ?? `months ${month!}`}`;
  const hasClock = time.startsWith('at ') && !time.startsWith('at minutes');
  const words = hasClock ? [days === '' ? 'every day' : days, months, time] : [time, days, months];
  const sentence = words.filter((word) => word !== '').join(' ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
