import { told } from '../events/kind.ts';

type Of = { readonly skill_id: string; readonly name: string };

export const skillEvents = {
  'skill.created': told<Of & { readonly version: number }>('A skill was added to the library of the account.'),
  'skill.version_added': told<Of & { readonly version: number }>('A skill of the library has another version.'),
  'skill.deleted': told<Of>('A skill was deleted from the library, with all its versions.'),
  'agent.skill_put': told<{ readonly name: string; readonly version: number; readonly enabled: boolean }>(
    'A skill of the library was given to the agent, or given otherwise; `version` is the one that it has now.',
  ),
  'agent.skill_removed': told<{ readonly name: string }>('A skill was taken from the agent.'),
} as const;
