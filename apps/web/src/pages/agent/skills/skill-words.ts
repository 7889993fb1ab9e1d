import type { AgentSkill } from '@lodge/sdk';
import { formatNumber } from '../../../format.ts';
import type { Tone } from '../../../components/badge.tsx';

interface Shown {
  readonly tone: Tone;
  readonly label: string;
  /** A sentence below, where the label is not enough. */
  readonly why: string | null;
}

/** How the machine has a skill. A failure of the machine is about all of its skills. */
export function shownState({ state, enabled, members, error }: AgentSkill): Shown {
  switch (state) {
    case 'loaded':
      return { tone: 'good', label: 'Loaded', why: null };
    case 'pending':
      if (error !== null) return { tone: 'bad', label: 'Not in the machine', why: `${error} It is tried again.` };
      return { tone: 'quiet', label: 'On its way', why: 'The machine takes it when it runs.' };
    case 'shadowed':
      return { tone: 'warning', label: 'Hidden', why: 'The agent has another skill of this name, which it uses.' };
    case 'not_loaded':
      if (!enabled) return { tone: 'quiet', label: 'Disabled', why: null };
      if (members?.length === 0) return { tone: 'quiet', label: 'For nobody', why: null };
      return { tone: 'warning', label: 'Not loaded', why: 'The runtime does not offer it to the agent.' };
  }
}

export const versionWords = ({ version, resolved_version: now }: AgentSkill): string =>
  version === 'latest' ? `${formatNumber(now)}, each new one` : formatNumber(now);

export const memberWords = ({ members }: AgentSkill): string =>
  members === null
    ? 'All'
    : members.length === 0
      ? 'Nobody'
      : members.map((name) => name ?? 'The agent itself').join(', ');

/** Programs and variables that it lacks. */
export const missingWords = ({ missing: { programs, variables } }: AgentSkill): string | null =>
  [...programs, ...variables].join(', ') || null;
