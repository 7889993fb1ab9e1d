/** Findings of a review by rules. */
import { skillBounds } from '../skill.ts';

export const severities = ['low', 'medium', 'high'] as const;
export type Severity = (typeof severities)[number];

export const skillRules = [
  'download_to_shell',
  'encoded_payload',
  'hidden_characters',
  'executable',
  'nested_archive',
  'credential',
  'credential_file',
] as const;
export type SkillRule = (typeof skillRules)[number];

export interface SkillFinding {
  readonly severity: Severity;
  readonly rule: SkillRule;
  readonly file: string;
  /** Null where it is the file as a whole. */
  readonly line: number | null;
  readonly message: string;
}

/** A finding as its rule makes it, without its place. */
export type Found = Omit<SkillFinding, 'file' | 'line'>;

/** Findings of one rule in one file beyond which no more are listed. */
const maxOfRule = 4;

/** Collects findings. The worst are kept, so that many small ones hide none. */
export class Findings {
  readonly #all: SkillFinding[] = [];
  readonly #counts = new Map<string, number>();

  add(file: string, line: number | null, found: Found): void {
    const kind = `${found.rule} ${found.severity} ${file}`;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= maxOfRule) this.#all.push({ ...found, file, line });
  }

  list(): SkillFinding[] {
    const rank = ({ severity }: SkillFinding): number => severities.indexOf(severity);
    return this.#all.toSorted((a, b) => rank(b) - rank(a)).slice(0, skillBounds.findings);
  }
}
