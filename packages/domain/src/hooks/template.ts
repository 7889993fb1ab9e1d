/**
 * Templates of hooks: the owner's words with named fields of the sender's JSON, such as `{{issue.title}}`. A field's value
 * is inserted as JSON on one line. It can end neither its quotes nor its line, whatever the sender wrote.
 */
import { boundedLine } from '../host-lines/json-line.ts';

export const maxTemplateChars = 8_192;
const maxFields = 50;
const maxPathSegments = 16;
const maxPathChars = 200;
/** Most UTF-8 bytes of one value as JSON, and of all values. */
const maxValueBytes = 4 * 1024;
const maxAllBytes = 16 * 1024;

type Part = { readonly text: string } | { readonly path: readonly string[] };
export type Template = readonly Part[];

/** Returns the template, or the words for its fault, to follow its name. */
export function parseTemplate(text: string): Template | string {
  const parts: Part[] = [];
  let fields = 0;
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('{{', at);
    if (open === -1) {
      parts.push({ text: text.slice(at) });
      break;
    }
    if (open > at) parts.push({ text: text.slice(at, open) });
    const close = text.indexOf('}}', open);
    if (close === -1) return 'has {{ without }}';
    const path = pathOf(text.slice(open + 2, close));
    if (path === null) return 'must name a field in each {{…}}, such as {{issue.title}}';
    fields += 1;
    if (fields > maxFields) return `may have at most ${maxFields} fields`;
    parts.push({ path });
    at = close + 2;
  }
  return parts;
}

const segmentPattern = /^[^\s{}.\p{C}]+$/u;

function pathOf(inside: string): readonly string[] | null {
  const name = inside.trim();
  if (name.length > maxPathChars) return null;
  const path = name.split('.');
  return path.length <= maxPathSegments && path.every((segment) => segmentPattern.test(segment)) ? path : null;
}

export interface Rendered {
  readonly text: string;
  /** Whether a value was too long and only its beginning was inserted as text. */
  readonly isCut: boolean;
}

/** Renders a template. A missing field becomes `null`. */
export function renderTemplate(template: Template, data: unknown): Rendered {
  let left = maxAllBytes;
  let isCut = false;
  const texts = template.map((part) => {
    if ('text' in part) return part.text;
    const value = boundedLine(valueAt(data, part.path), Math.min(maxValueBytes, left));
    left = Math.max(0, left - value.bytes);
    isCut ||= value.isCut;
    return value.text;
  });
  return { text: texts.join(''), isCut };
}

/** Returns the value at a path through own fields only, without inherited ones. */
function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return null;
    if (Array.isArray(value) && !/^\d{1,6}$/.test(segment)) return null;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}
