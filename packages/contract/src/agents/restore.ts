import { Type } from 'typebox';
import type { Static } from 'typebox';
import { beforeLastTurn } from '@lodge/domain';
import { patterns } from '../text.ts';

export const RestoreAgent = Type.Object(
  {
    snapshot: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.text,
      description: `Id of a snapshot of this agent, or \`${beforeLastTurn}\`: the newest one that was saved before its last turn began.`,
      examples: ['s4k8m2q9t1ab'],
    }),
    save_present: Type.Optional(
      Type.Boolean({
        description:
          'False: the present is not saved first. The turn in hand is cut off, and nothing comes back if the snapshot does not start.',
        default: true,
      }),
    ),
    memory: Type.Optional(
      Type.Boolean({ description: 'False: the disk of the snapshot is booted, without its memory.', default: true }),
    ),
  },
  { title: 'RestoreAgent', additionalProperties: false, examples: [{ snapshot: 's4k8m2q9t1ab' }] },
);
export type RestoreAgent = Static<typeof RestoreAgent>;
