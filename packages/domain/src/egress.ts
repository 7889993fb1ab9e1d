/** What an agent's machine may reach beside its model broker, which it always reaches. */

export const egressModes = ['public', 'allowlist', 'none'] as const;
export type EgressMode = (typeof egressModes)[number];

/**
 * - `public`: any public address.
 * - `allowlist`: what `allow` names and nothing else.
 * - `none`: nothing.
 */
export interface EgressRules {
  readonly mode: EgressMode;
  /** Up to 100 of `host`, `*.host` (every name below it, not itself) and IPv4 blocks (`192.0.2.0/24`); lower case. Read with `allowlist` alone. */
  readonly allow: readonly string[];
}

export const publicEgress: EgressRules = { mode: 'public', allow: [] };

/** Entries of one agent's `allow`. */
export const mostEgressEntries = 100;
