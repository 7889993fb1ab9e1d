/** Reads a skill wherever it is: an archive that was sent, a repository, a hub. All of them may be hostile. */
import type { SkillFileFacts, SkillFinding, SkillHub, SkillRequires, SkillSource } from '@lodge/domain';

export type SkillOrigin =
  | { readonly kind: 'zip' | 'tar.gz'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'git';
      readonly url: string;
      /** A branch, a tag or a commit; null is what the repository itself takes. */
      readonly ref: string | null;
      /** The skill's folder; empty is the repository itself. */
      readonly path: string;
    }
  | { readonly kind: 'hub'; readonly name: SkillHub; readonly slug: string; readonly version: string | null };

/** A whole skill within its bounds, with the findings of its review. */
export interface ReadSkill {
  readonly name: string;
  readonly description: string;
  readonly requires: SkillRequires;
  readonly source: SkillSource;
  readonly findings: readonly SkillFinding[];
  /** SHA-256 over paths, modes and digests of all files, in hex. */
  readonly digest: string;
  /** By their paths. */
  readonly files: readonly (SkillFileFacts & { readonly content: Uint8Array })[];
}

export interface SkillReader {
  /**
   * Reads a skill for an account, which waits for its turn among others. Rejects with a `Refusal`: `invalid_request` with the
   * field for what is no skill, `skill_source_failed` where it cannot be fetched, `request_too_large`.
   */
  read(accountId: string, origin: SkillOrigin, signal: AbortSignal): Promise<ReadSkill>;
  close(): Promise<void>;
}
