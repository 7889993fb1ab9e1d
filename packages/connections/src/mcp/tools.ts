/** What a server says of its tools, and what they answer: somebody else's text, within bounds. */
import { hash } from 'node:crypto';
import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { OfferedTool, ToolAnswer } from '@lodge/ports';
import type { McpBounds } from '../bounds.ts';
import { maskedJson } from '../secret/masker.ts';
import type { Needles } from '../secret/masker.ts';

export interface ServerTool extends OfferedTool {
  /** The server's own. */
  readonly serverName: string;
}

/** Characters of a tool's name: providers take 64, and runtimes put up to twelve before it (`mcp__lodge__`). */
const maxName = 52;
const digits = 8;

/** `<connection>__<tool>`: what is no name at a provider, too long or there already is told apart by a hash. */
function nameOf(connection: string, serverName: string, taken: ReadonlySet<string>): string {
  const plain = `${connection}__${serverName.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
  if (plain === `${connection}__${serverName}` && plain.length <= maxName && !taken.has(plain)) return plain;
  return `${plain.slice(0, maxName - digits - 1)}_${hash('sha256', serverName, 'hex').slice(0, digits)}`;
}

/** The connection of a tool: its name has no underscore. */
export const connectionOf = (tool: string): string | null => {
  const end = tool.indexOf('__');
  return end < 1 ? null : tool.slice(0, end);
};

/** Adds to `tools` what fits of a page of the server's list. */
export function addTools(tools: Map<string, ServerTool>, page: unknown, connection: string, bounds: McpBounds): void {
  let schemas = [...tools.values()].reduce((sum, { inputSchema }) => sum + JSON.stringify(inputSchema).length, 0);
  for (const given of Array.isArray(page) ? page : []) {
    if (tools.size >= bounds.tools) return;
    const tool = asObject(given);
    const inputSchema = asObject(tool?.inputSchema);
    if (tool === null || typeof tool.name !== 'string' || inputSchema?.type !== 'object') continue;
    const serverName = tool.name.toWellFormed();
    if (serverName === '' || serverName.length > 128) continue;
    const size = JSON.stringify(inputSchema).length;
    if (size > bounds.schemaBytes || schemas + size > bounds.schemasBytes) continue;
    const name = nameOf(connection, serverName, new Set(tools.keys()));
    if (tools.has(name)) continue;
    schemas += size;
    const described = typeof tool.description === 'string' ? tool.description : '';
    const description = described.slice(0, bounds.descriptionChars).toWellFormed();
    tools.set(name, { name, serverName, description, inputSchema });
  }
}

const kinds = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** A tool's answer as its agent has it. */
export function answerOf(result: Json, needles: Needles, bounds: McpBounds): ToolAnswer {
  const given = Array.isArray(result.content) ? result.content : [];
  const blocks = given.map(asObject).filter((block) => block !== null && kinds.has(String(block.type))) as Json[];
  const { structuredContent } = result;
  const content =
    blocks.length === 0 && structuredContent !== undefined ? [text(JSON.stringify(structuredContent))] : blocks;
  const isError = result.isError === true;
  return { content: maskedJson(needles, content.slice(0, bounds.blocks)) as Json[], isError };
}

const text = (said: string): Json => ({ type: 'text', text: said });

/** An answer of ours, or of a server that refuses. */
export const failure = (sentence: string): ToolAnswer => ({ content: [text(sentence)], isError: true });
