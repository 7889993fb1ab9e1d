import { Type } from 'typebox';
import { oneOf, patterns } from '../text.ts';

const time = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, pattern: patterns.timestamp, description }));

/** The common query fields of lists that grow. `one` is an entry of the list, `many` several. */
export const growingList = ({ one, many, limit }: { one: string; many: string; limit: number }) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: limit,
      description: `${many[0]!.toUpperCase()}${many.slice(1)} per page. With \`follow\`: how many of the newest come first.`,
    }),
  ),
  direction: Type.Optional(
    oneOf(['desc', 'asc'], {
      default: 'desc',
      description: `Newest ${many} first by default, oldest first with \`asc\`; with \`follow\` always \`asc\`.`,
    }),
  ),
  since: time(`Only ${many} of this time or later.`),
  until: time(`Only ${many} before this time.`),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20,
        pattern: patterns.token,
        description: `With \`follow\`: id of the last ${one} that was received. The stream goes on behind it.`,
      }),
    ),
  }),
});
