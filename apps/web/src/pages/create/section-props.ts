import type { Draft, Problems } from './draft.ts';

/** What each section of the form gets. */
export interface SectionProps {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
  readonly problems: Problems;
}
