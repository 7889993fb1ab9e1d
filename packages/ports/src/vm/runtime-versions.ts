/** A version of a runtime that agents can be given. */
export interface RuntimeVersion {
  /** As its registry names it. Null: the version that this release of Lodge brings. */
  readonly version: string | null;
  /** What `ImageBuilder` knows its image by: the runtime's name, with `@` and the version where it is an installed one. */
  readonly image: string;
}

/** Of one runtime. Both are the same unless new agents are held on an earlier version. */
export interface OfferedVersions {
  /** What new agents are made from. */
  readonly fresh: RuntimeVersion;
  /** What an `upgrade` brings. */
  readonly upgrade: RuntimeVersion;
}

/** Versions of runtimes that were installed on this host beside those that Lodge brings. */
export interface RuntimeVersions {
  /**
   * What is offered now. A version is only offered while it is what its tests have passed on: the same image, warmed up in
   * the same way (`variant`, as in `AgentRuntime.templateVariant`). In place of another one stands what Lodge brings.
   */
  offered(runtime: string, variant: string): Promise<OfferedVersions>;
}

export const builtIn = (runtime: string): RuntimeVersion => ({ version: null, image: runtime });
