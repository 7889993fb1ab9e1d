import { Type } from 'typebox';
import type { Static } from 'typebox';
import { beforeLastTurn } from '@lodge/domain';
import { unless, withRules } from '../rules.ts';
import { patterns } from '../text.ts';

export const RestoreAgent = withRules(
  Type.Object(
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
      paths: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 4096, examples: ['notes/today.md'] }), {
          minItems: 1,
          maxItems: 100,
          description:
            'Files and folders of the workspace. They alone are copied from the snapshot into the running agent, whose machine goes on; nothing else goes back.',
        }),
      ),
    },
    { title: 'RestoreAgent', additionalProperties: false, examples: [{ snapshot: 's4k8m2q9t1ab' }] },
  ),
  {
    description: 'takes paths without memory and save_present',
    ...unless({ not: { required: ['paths'] } }, { properties: { memory: false, save_present: false } }),
  },
);
export type RestoreAgent = Static<typeof RestoreAgent>;
