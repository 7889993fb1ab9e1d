/**
 * Every advisory lock of the database. A number stands for one thing only: two that share one would wait for each other.
 */
export const advisoryLocks = {
  /** One migrating process at a time. */
  migration: 7_301,
  /** A create holds it until its row is committed: room on the host is counted under it. */
  createAgent: 7_302,
  /** The making of the first account. */
  firstAccount: 7_303,
  /** The making of the first owner link. */
  firstOwnerLink: 7_305,
  /** A round of summing usage up: two at once would take the same entries. */
  usageSums: 7_307,
  /** Conversations of channels are claimed one claimer at a time: those of an agent are counted under it. */
  channelClaims: 7_310,
  /** A step of deleting what channels keep too long. */
  channelPrune: 7_311,
  /** Runs of schedules are claimed one claimer at a time: those of an agent are counted under it. */
  scheduleClaims: 7_324,
  /** Messages of hooks are claimed one claimer at a time: those of an agent are counted under it. */
  hookClaims: 7_325,
} as const;

/** The same by a class and the hash of an id: of several at once, those with one id wait for each other. */
export const advisoryLockClasses = {
  /** Writers of one account's events, until they commit. */
  accountEvents: 7_304,
  /** Operations of one account that start an agent, so that two do not take its last place. */
  runningQuota: 7_306,
  /** Model calls of one agent or account that has a spend limit, while they are admitted. */
  spend: 7_308,
  /** Counted places of one subject. */
  places: 7_309,
  /** What comes to hooks of one account, while what waits is counted. */
  hookTexts: 7_328,
} as const;
