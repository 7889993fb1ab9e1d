/**
 * Spend limits. A window counts the cost of its ended calls and the estimates of those in progress. A call without a known
 * price counts nothing here, because the broker makes no such call while a limit applies. Amounts are decimal USD as text,
 * and never floats.
 */

/**
 * The limit of an agent's or account's spending on LLM calls. A null window has no bound. Windows are days and months of
 * UTC.
 */
export interface SpendLimit {
  readonly dailyUsd: string | null;
  readonly monthlyUsd: string | null;
  /** `block` refuses its model calls until the window ends. `pause` also puts the agent to sleep. */
  readonly action: 'block' | 'pause';
}

/** The limits of an agent and of its account. */
export interface SpendLimits {
  readonly agent: SpendLimit | null;
  readonly account: SpendLimit | null;
}

/** The deployment's limits, for agents and accounts without their own. */
export type SpendDefaults = SpendLimits;

export const noSpendDefaults: SpendDefaults = { agent: null, account: null };

export const spendPeriods = ['day', 'month'] as const;
export type SpendPeriod = (typeof spendPeriods)[number];

/** One limit with the amounts that count against it. */
export interface SpendStanding {
  readonly scope: 'agent' | 'account';
  readonly period: SpendPeriod;
  readonly limitUsd: string;
  readonly action: SpendLimit['action'];
  /** Cost of the window's ended calls. */
  readonly spentUsd: string;
  /** Estimates of the other calls in progress. */
  readonly inFlightUsd: string;
}

/** One limit in its window that contains a certain time. */
export interface AppliedLimit extends Omit<SpendStanding, 'spentUsd' | 'inFlightUsd'> {
  /** Start of the window. */
  readonly starts: Date;
}

/** Returns the limits that apply to an agent's calls at a time: its own and its account's, else the deployment's. */
export function appliedLimits(own: SpendLimits, defaults: SpendDefaults, at: Date): AppliedLimit[] {
  return (['agent', 'account'] as const).flatMap((scope) => {
    const limit = own[scope] ?? defaults[scope];
    return spendPeriods.flatMap((period) => {
      const limitUsd = limitOf(limit, period);
      if (limit === null || limitUsd === null) return [];
      return [{ scope, period, starts: spendWindow(period, at).start, limitUsd, action: limit.action }];
    });
  });
}

export function limitOf(limit: SpendLimit | null, period: SpendPeriod): string | null {
  if (limit === null) return null;
  return period === 'day' ? limit.dailyUsd : limit.monthlyUsd;
}

/** Returns the window of UTC that contains a time: from `start`, before `end`. */
export function spendWindow(period: SpendPeriod, at: Date): { readonly start: Date; readonly end: Date } {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return period === 'day'
    ? { start: new Date(Date.UTC(year, month, day)), end: new Date(Date.UTC(year, month, day + 1)) }
    : { start: new Date(Date.UTC(year, month, 1)), end: new Date(Date.UTC(year, month + 1, 1)) };
}

/** Returns the limits with nothing left. While there is one, no call is admitted. */
export function reachedLimits<S extends SpendStanding>(standings: readonly S[]): S[] {
  return standings.filter(({ spentUsd, limitUsd }) => units(spentUsd) >= units(limitUsd));
}

/** Returns the limits that are four fifths spent. */
export function nearLimits<S extends SpendStanding>(standings: readonly S[]): S[] {
  return standings.filter(({ spentUsd, limitUsd }) => 5n * units(spentUsd) >= 4n * units(limitUsd));
}

/**
 * Returns the limits that the calls in progress and this one may exceed together, by their estimates. An estimate is far
 * more than most calls cost, so a single call counts only against the amount spent. A limit is therefore passed by one call
 * at most.
 */
export function limitsExceededBy<S extends SpendStanding>(standings: readonly S[], estimateUsd: string | null): S[] {
  const estimate = units(estimateUsd ?? '0');
  return standings.filter(({ spentUsd, limitUsd, inFlightUsd }) => {
    const inFlight = units(inFlightUsd);
    return inFlight > 0n && units(spentUsd) + inFlight + estimate > units(limitUsd);
  });
}

/** Decimals that are compared. Prices are per million tokens, so a call's cost has at most this many. */
const places = 12;

function units(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(places, '0').slice(0, places));
}

/** Returns the decimal USD that calls may still cost. Calls in progress count once they have ended. */
export function leftUsd({ limitUsd, spentUsd }: SpendStanding): string {
  const left = units(limitUsd) - units(spentUsd);
  if (left <= 0n) return '0';
  const digits = left.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places);
  let end = fraction.length;
  while (fraction[end - 1] === '0') end -= 1;
  return digits.slice(0, -places) + (end === 0 ? '' : `.${fraction.slice(0, end)}`);
}

/** Returns the message about reached limits and the time at which waiting helps: the end of the last of their windows. */
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

/** Formats a limit, such as `The agent's spend limit of $5 a day`. */
export const limitWords = ({ scope, period, limitUsd }: SpendStanding): string =>
  `The ${scope}'s spend limit of $${limitUsd} a ${period}`;
