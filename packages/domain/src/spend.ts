/**
 * Spend limits. What counts in a window is the cost of its calls that have ended and the estimates of those under way. A
 * call without a known price costs nothing here: while a limit holds the broker makes none. Amounts are decimal USD as
 * text, and never floats.
 */

/** What an agent or an account may spend on LLM calls. Null: no bound in that window. Windows are days and months of UTC. */
export interface SpendLimit {
  readonly dailyUsd: string | null;
  readonly monthlyUsd: string | null;
  /** `block`: its model calls are refused until the window ends. `pause`: it is put to sleep as well. */
  readonly action: 'block' | 'pause';
}

/** The deployment's limits, for whom none of their own is set. */
export interface SpendDefaults {
  readonly agent: SpendLimit | null;
  readonly account: SpendLimit | null;
}

export const noSpendDefaults: SpendDefaults = { agent: null, account: null };

export const spendPeriods = ['day', 'month'] as const;
export type SpendPeriod = (typeof spendPeriods)[number];

/** One limit beside what counts against it. */
export interface SpendStanding {
  readonly scope: 'agent' | 'account';
  readonly period: SpendPeriod;
  readonly limitUsd: string;
  readonly action: SpendLimit['action'];
  /** Of the window's calls that have ended. */
  readonly spentUsd: string;
  /** Estimates of the other calls under way. */
  readonly inFlightUsd: string;
}

export function limitOf(limit: SpendLimit | null, period: SpendPeriod): string | null {
  if (limit === null) return null;
  return period === 'day' ? limit.dailyUsd : limit.monthlyUsd;
}

/** The window of UTC that a time is in: from `start`, before `end`. */
export function spendWindow(period: SpendPeriod, at: Date): { readonly start: Date; readonly end: Date } {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return period === 'day'
    ? { start: new Date(Date.UTC(year, month, day)), end: new Date(Date.UTC(year, month, day + 1)) }
    : { start: new Date(Date.UTC(year, month, 1)), end: new Date(Date.UTC(year, month + 1, 1)) };
}

/** The limits that nothing is left of; while there is one, no call is admitted. */
export function reachedLimits<S extends SpendStanding>(standings: readonly S[]): S[] {
  return standings.filter(({ spentUsd, limitUsd }) => units(spentUsd) >= units(limitUsd));
}

/** Those of which four fifths are spent. */
export function nearLimits<S extends SpendStanding>(standings: readonly S[]): S[] {
  return standings.filter(({ spentUsd, limitUsd }) => 5n * units(spentUsd) >= 4n * units(limitUsd));
}

/**
 * The limits that the calls under way and this one may together go beyond, by their estimates. An estimate is far more than
 * most calls come to, so a call that is alone is held to what is spent: a limit is passed by one call at most.
 */
export function limitsExceededBy<S extends SpendStanding>(standings: readonly S[], estimateUsd: string | null): S[] {
  const estimate = units(estimateUsd ?? '0');
  return standings.filter(({ spentUsd, limitUsd, inFlightUsd }) => {
    const inFlight = units(inFlightUsd);
    return inFlight > 0n && units(spentUsd) + inFlight + estimate > units(limitUsd);
  });
}

/** Decimals that are told apart: prices are per million tokens, so a call's cost has at most this many. */
const places = 12;

function units(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(places, '0').slice(0, places));
}

/** Decimal USD that calls may still cost; what is under way is counted once it has ended. */
export function leftUsd({ limitUsd, spentUsd }: SpendStanding): string {
  const left = units(limitUsd) - units(spentUsd);
  if (left <= 0n) return '0';
  const digits = left.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places);
  let end = fraction.length;
  while (fraction[end - 1] === '0') end -= 1;
  return digits.slice(0, -places) + (end === 0 ? '' : `.${fraction.slice(0, end)}`);
}

/** What is said of limits that are reached, and when waiting helps: at the end of the last of their windows. */
export function reachedWords(
  reached: readonly SpendStanding[],
  at: Date,
): { readonly message: string; readonly until: Date } {
  const last = reached.find(({ period }) => period === 'month') ?? reached[0]!;
  const until = spendWindow(last.period, at).end;
  const end = `${until.toISOString().slice(0, 19)}Z`;
  return {
    message: `${limitWords(last)} is reached. Model calls are refused until ${end}, or until it is raised.`,
    until,
  };
}

/** `The agent's spend limit of $5 a day`. */
export const limitWords = ({ scope, period, limitUsd }: SpendStanding): string =>
  `The ${scope}'s spend limit of $${limitUsd} a ${period}`;
