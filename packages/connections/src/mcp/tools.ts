/** A server's descriptions of its tools, and their answers: somebody else's text, within bounds. */
import { hash } from 'node:crypto';
import { asObject, loopShare } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { OfferedTool, ToolAnswer } from '@lodge/ports';
import type { McpBounds } from '../bounds.ts';

export interface ServerTool extends OfferedTool {
  /** The server's own name. */
  readonly serverName: string;
}

/** Most characters of a tool's name. Providers accept 64, and runtimes put up to twelve before it (`mcp__lodge__`). */
const maxName = 52;
const digits = 8;

/** Returns `<connection>__<tool>`. A name that is invalid at a provider, too long or taken gets a hash. */
function nameOf(connection: string, serverName: string, taken: ReadonlyMap<string, ServerTool>): string {
  const plain = `${connection}__${serverName.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
  if (plain === `${connection}__${serverName}` && plain.length <= maxName && !taken.has(plain)) return plain;
  return `${plain.slice(0, maxName - digits - 1)}_${hash('sha256', serverName, 'hex').slice(0, digits)}`;
}

/** Returns the connection of a tool; a connection's name has no underscore. */
export const connectionOf = (tool: string): string | null => {
  const end = tool.indexOf('__');
  return end < 1 ? null : tool.slice(0, end);
};

interface Listing {
  readonly connection: string;
  readonly agentId: string;
  readonly bounds: McpBounds;
}

/** Adds the fitting tools of a page of the server's list to `tools`, in small steps among those of other agents. */
export async function addTools(tools: Map<string, ServerTool>, page: unknown, listing: Listing): Promise<void> {
  const { bounds, agentId, connection } = listing;
  const left = Array.isArray(page) ? (page as unknown[]).values() : [].values();
  let bytes = [...tools.values()].reduce((sum, tool) => sum + bytesOf(tool), 0);
  await loopShare.run(agentId, () => {
    const { done, value } = left.next();
    if (done || tools.size >= bounds.tools) return false;
    const tool = toolOf(value, connection, tools, bounds);
    if (tool === null) return true;
    const more = bytesOf(tool);
    if (bytes + more <= bounds.toolsBytes) {
      bytes += more;
      tools.set(tool.name, tool);
    }
    return true;
  });
}

const bytesOf = ({ name, description, inputSchema }: ServerTool): number =>
  Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));

/** Reads a tool; null when it is none, or too large. */
function toolOf(
  given: unknown,
  connection: string,
  tools: ReadonlyMap<string, ServerTool>,
  bounds: McpBounds,
): ServerTool | null {
  const tool = asObject(given);
  const inputSchema = asObject(tool?.inputSchema);
  if (tool === null || typeof tool.name !== 'string' || inputSchema?.type !== 'object') return null;
  const serverName = tool.name.toWellFormed();
  if (serverName === '' || serverName.length > 128) return null;
  if (JSON.stringify(inputSchema).length > bounds.schemaBytes) return null;
  const name = nameOf(connection, serverName, tools);
  if (tools.has(name)) return null;
  const described = typeof tool.description === 'string' ? tool.description : '';
  const description = described.slice(0, bounds.descriptionChars).toWellFormed();
  return { name, serverName, description, inputSchema };
}

const kinds = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Returns a tool's answer for its agent. It has few more bytes than the server's, which were bounded. */
export function answerOf(result: Json, bounds: McpBounds): ToolAnswer {
  const given = Array.isArray(result.content) ? result.content : [];
  const blocks = given.map(asObject).filter((block) => block !== null && kinds.has(String(block.type))) as Json[];
  const { structuredContent } = result;
  const content =
    blocks.length === 0 && structuredContent !== undefined ? [text(JSON.stringify(structuredContent))] : blocks;
  return { content: content.slice(0, bounds.blocks), isError: result.isError === true };
}

const text = (said: string): Json => ({ type: 'text', text: said });

/** An answer of ours, or of a server that refuses. */
export const failure = (sentence: string): ToolAnswer => ({ content: [text(sentence)], isError: true });
