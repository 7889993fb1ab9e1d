/** An authority whose certificates an agent's machine trusts for the hosts of its connections. */
export interface Authority {
  /** PEM. It is public. */
  readonly certificate: string;
  /** PEM of the private key, which stays on this host. */
  readonly key: string;
}

/** Draws authorities. */
export interface AuthorityMaker {
  make(): Promise<Authority>;
}

/** The context bound to the sealed key of an authority. */
export const authorityContext = (name: string): string => `authority/${name}`;
