/**
 * Every advisory lock of the database. Each number stands for one purpose, because two purposes with one number would wait
 * for each other.
 */
export const advisoryLocks = {
  /** One migrating process at a time. */
  migration: 7_301,
  /** A create holds it until its row is committed. Room on the host is counted under it. */
  createAgent: 7_302,
  /** The making of the first account. */
  firstAccount: 7_303,
  /** The making of the first owner link. */
  firstOwnerLink: 7_305,
  /** A round of summing usage up, because two at once would take the same entries. */
  usageSums: 7_307,
  /** Claims of conversations of channels, one claimer at a time. An agent's claims are counted under it. */
  channelClaims: 7_310,
  /** A step of deleting old rows of channels. */
  channelPrune: 7_311,
  /** Claims of work, one claimer at a time. The claims of lanes and accounts are counted under it. */
  workClaims: 7_331,
  /** New requests of devices for a key, while those that wait are counted. */
  oauthDevices: 7_329,
  /** New clients of OAuth, while those of their network are counted. */
  oauthClients: 7_330,
} as const;

/** Advisory locks by a class and the hash of an id. Only callers with the same id wait for each other. */
export const advisoryLockClasses = {
  /** Writers of one account's events, until they commit. */
  accountEvents: 7_304,
  /** Operations of one account that start an agent, so two do not take its last place. */
  runningQuota: 7_306,
  /** Model calls of one agent or account that has a spend limit, while they are admitted. */
  spend: 7_308,
  /** Counted places of one subject. */
  places: 7_309,
  /** Requests to hooks of one account, while its waiting messages are counted. */
  hookTexts: 7_328,
} as const;
