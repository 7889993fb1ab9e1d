import { Type } from 'typebox';
import type { Static } from 'typebox';
import { egressModes, longestEgressEntry, mostEgressEntries } from '@lodge/domain';
import { onlyWhere, withRules } from '../rules.ts';
import { oneOf, patterns } from '../text.ts';

const mode = oneOf(egressModes, {
  default: 'public',
  description:
    '`public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The model broker is reached in each.',
});

export const Egress = Type.Object(
  {
    mode,
    allow: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: longestEgressEntry,
        pattern: patterns.text,
        examples: ['api.example.com', '*.example.com', '9.9.9.0/24'],
      }),
      {
        maxItems: mostEgressEntries,
        description:
          'Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block.',
      },
    ),
  },
  { title: 'Egress', additionalProperties: false, description: "What the agent's machine may reach." },
);
export type Egress = Static<typeof Egress>;

export const EgressInput = withRules(
  Type.Partial(Egress, {
    additionalProperties: false,
    description: "What the agent's machine may reach; given as a whole. Without `mode` it is `public`.",
    examples: [{ mode: 'allowlist', allow: ['*.github.com', 'pypi.org'] }],
  }),
  onlyWhere('mode', 'allowlist', { allow: { maxItems: 0 } }),
);
export type EgressInput = Static<typeof EgressInput>;
