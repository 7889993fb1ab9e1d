/** Writes the files of `lodge export`: YAML with comments beside the placeholders of secrets. */
import { Document, visit } from 'yaml';

/** A secret that a person puts into a variable. */
export class Placeholder {
  readonly env: string;
  readonly last4: string;

  constructor(env: string, last4: string) {
    this.env = env;
    this.last4 = last4;
  }
}

const schemaLine = ' yaml-language-server: $schema=agents.schema.json';

export async function yamlText(value: unknown): Promise<string> {
  const document = new Document();
  const comments = new Map<string, string>();
  document.contents = document.createNode(plain(value, [], comments)) as typeof document.contents;
  for (const [path, comment] of comments) {
    const node = document.getIn(JSON.parse(path) as (string | number)[], true) as { comment?: string; flow?: boolean };
    node.flow = true;
    node.comment = comment;
  }
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = 'BLOCK_LITERAL';
    },
  });
  document.commentBefore = schemaLine;
  return document.toString({ lineWidth: 0, aliasDuplicateObjects: false } as never);
}

function plain(value: unknown, path: (string | number)[], comments: Map<string, string>): unknown {
  if (value instanceof Placeholder) {
    comments.set(JSON.stringify(path), value.last4 === '' ? ' a short secret' : ` last4 ${comment(value.last4)}`);
    return { env: value.env };
  }
  if (Array.isArray(value)) return value.map((each, at) => plain(each, [...path, at], comments));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner, [...path, key], comments)]));
}

/** A comment is one line. */
const comment = (last4: string): string => last4.replaceAll(/[^\x21-\x7e]/g, '?');
