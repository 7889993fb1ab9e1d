/** A version of a runtime that agents can get. */
export interface RuntimeVersion {
  /** The version's name in its registry; null for the version that this release of Lodge brings. */
  readonly version: string | null;
  /** The name by which `ImageBuilder` knows its image: the runtime's name, with `@` and the version for an installed one. */
  readonly image: string;
}

/** The versions of one runtime that are offered. Both are equal unless new agents are held on an earlier version. */
export interface OfferedVersions {
  /** The version of new agents. */
  readonly fresh: RuntimeVersion;
  /** The version that an `upgrade` brings. */
  readonly upgrade: RuntimeVersion;
}

/** Versions of runtimes that were installed on this host beside Lodge's own. */
export interface RuntimeVersions {
  /**
   * Returns the versions offered now. A version is offered only while its image and warm-up (`variant`, as in
   * `AgentRuntime.templateVariant`) are those that its tests passed on. Otherwise Lodge's own version is offered in its
   * place.
   */
  offered(runtime: string, variant: string): Promise<OfferedVersions>;
}

export const builtIn = (runtime: string): RuntimeVersion => ({ version: null, image: runtime });
