import type { Draft, Problems } from './draft.ts';

/** The properties of each section of the form. */
export interface SectionProps {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
  readonly problems: Problems;
}
