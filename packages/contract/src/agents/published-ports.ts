import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AgentParams, ChatQuery } from './agent-requests.ts';
import { Timestamp, wholeList } from '../text.ts';

const number = { minimum: 1, maximum: 65_535, examples: [3000] };

export const Port = Type.Object(
  {
    object: Type.Literal('port'),
    port: Type.Integer(number),
    public: Type.Boolean({ description: 'True: anyone who knows the address reaches it.' }),
    url: Type.String({ examples: ['http://3000-openclaw-k7d2m9q4x1ab.agents.localhost:8080'] }),
    created_at: Timestamp,
  },
  { title: 'Port', additionalProperties: false },
);

export const PortList = wholeList(Port, 'PortList');

export const PublishPort = Type.Object(
  {
    port: Type.Integer({ ...number, description: "A port that a server in the agent's machine listens on." }),
    public: Type.Optional(
      Type.Boolean({
        default: false,
        description: "False: an API key or a link is asked for, as at the agent's own address. True: nothing is.",
      }),
    ),
  },
  { title: 'PublishPort', additionalProperties: false, examples: [{ port: 3000 }] },
);

export const PortParams = Type.Object({ ...AgentParams.properties, port: Type.Integer(number) });

export const TunnelQuery = Type.Object({ wake: ChatQuery.properties.wake }, { additionalProperties: false });
export type TunnelQuery = Static<typeof TunnelQuery>;

export const DeletedPort = Type.Object(
  { object: Type.Literal('port.deleted'), port: Type.Integer(), deleted: Type.Literal(true) },
  { title: 'DeletedPort', additionalProperties: false },
);
