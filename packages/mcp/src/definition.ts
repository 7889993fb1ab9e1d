import type { Tool as Definition } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { Tool } from './tool.ts';

const definitions = new WeakMap<Tool, Definition>();

/** A tool as clients are told of it. Its schemas are written once. */
export function definitionOf(tool: Tool): Definition {
  const known = definitions.get(tool);
  if (known) return known;
  const { name, title, description, annotations, input, output } = tool;
  const definition: Definition = {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: schemaOf(input, 'input'),
    ...(output !== undefined && { outputSchema: schemaOf(output, 'output') }),
  };
  definitions.set(tool, definition);
  return definition;
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): Definition['inputSchema'] {
  // A client may be given further fields by a later version.
  const override = ({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void => {
    if (io === 'output') delete jsonSchema.additionalProperties;
  };
  return z.toJSONSchema(schema, { io, override }) as Definition['inputSchema'];
}
