/** Small helpers for stanzas. */
import type { BinaryNode } from 'baileys';

export const node = (tag: string, attrs: BinaryNode['attrs'] = {}, content?: BinaryNode['content']): BinaryNode =>
  content === undefined ? { tag, attrs } : { tag, attrs, content };

export const childrenOf = (from: BinaryNode | undefined, tag?: string): BinaryNode[] =>
  Array.isArray(from?.content) ? from.content.filter((child) => tag === undefined || child.tag === tag) : [];

export const childOf = (from: BinaryNode | undefined, tag: string): BinaryNode | undefined => childrenOf(from, tag)[0];

export const bytesOf = (from: BinaryNode | undefined): Buffer => {
  const content = from?.content;
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : Buffer.alloc(0);
};

export const numberOf = (from: BinaryNode | undefined): number => {
  const bytes = bytesOf(from);
  return bytes.length === 0 ? 0 : bytes.readUIntBE(0, Math.min(bytes.length, 6));
};

export function bigEndian(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

export const server = 's.whatsapp.net';
export const seconds = (): string => String(Math.floor(Date.now() / 1000));

/** Without the device: `15557654321:5@lid` becomes `15557654321`. */
export const userOf = (jid: string): string => jid.split('@')[0]!.split(':')[0]!;
