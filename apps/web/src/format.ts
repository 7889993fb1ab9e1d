/** Formats dates and numbers by Intl in the reader's own English, if any, because the page's words are English. */
const locale = navigator.languages.find((language) => language.startsWith('en')) ?? 'en';

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const dateTimes = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const times = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
/** Exact to the millionth of a dollar, like the stored amounts. */
const dollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  maximumFractionDigits: 6,
});
const numbers = new Intl.NumberFormat(locale);

export const formatDate = (date: Date): string => dates.format(date);
export const formatDateTime = (date: Date): string => dateTimes.format(date);
/** The same in another time zone. Throws for one that the browser does not know. */
export const formatDateTimeIn = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(date);
export const formatTime = (date: Date): string => times.format(date);
/** Formats decimal US dollars from the API. */
export const formatUsd = (amount: string): string => dollars.format(Number(amount));
export const formatNumber = (value: number): string => numbers.format(value);

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a whole number of seconds, such as "12 s" or "1 min 5 s". */
export function formatSeconds(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/** Formats a size such as "1.5 GiB". */
export function formatBytes(bytes: number): string {
  const step = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** step;
  return `${numbers.format(Number(value.toFixed(value >= 100 || step === 0 ? 0 : 1)))} ${byteUnits[step]}`;
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
  ['month', 2_629_800],
  ['year', 31_557_600],
];

/** Formats a time as "3 hours ago", "in 2 days", or "just now" within a minute. */
export function formatRelative(date: Date, now = Date.now()): string {
  const seconds = Math.round((date.getTime() - now) / 1000);
  const [unit, size] = steps.findLast(([, length]) => Math.abs(seconds) >= length) ?? [];
  if (unit === undefined || size === undefined) return 'just now';
  return relative.format(Math.round(seconds / size), unit);
}
