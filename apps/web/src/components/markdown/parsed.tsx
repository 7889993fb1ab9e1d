import { memo, useMemo } from 'react';
import type { ComponentProps, ReactElement, ReactNode } from 'react';
import ReactMarkdown from 'react-markdown';
import type { Components, ExtraProps, Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { cx } from '../cx.ts';
import { canBeParsed, withoutTurning } from './bounds.ts';
import { CodeBlock } from './code-block.tsx';
import { headingLevels } from './heading-levels.ts';
import { Plain } from './plain.tsx';
import { SafeLink } from './safe-link.tsx';
import type { ShowFile } from './safe-link.tsx';

interface ParsedProps {
  readonly text: string;
  readonly file: ShowFile | undefined;
  /** Told what the parser took. */
  readonly took: (ms: number) => void;
}

/** Markdown as elements. */
export default memo(function Parsed({ text, file, took }: ParsedProps) {
  return useMemo(() => {
    const begun = performance.now();
    const made = parsed(withoutTurning(text), file);
    took(performance.now() - begun);
    return made;
  }, [text, file, took]);
});

function parsed(text: string, file: ShowFile | undefined): ReactNode {
  if (!canBeParsed(text)) return <Plain text={text} />;
  try {
    // It is a function without hooks. Called here, its own errors are ours to catch.
    return ReactMarkdown({ ...options, components: componentsWith(file), children: text });
  } catch {
    return <Plain text={text} />;
  }
}

type Tree = NonNullable<ExtraProps['node']>;
type Child = Tree['children'][number];

const maxElements = 8000;
const maxDepth = 60;

/** Refuses a tree that the page could not show, and takes the names from elements, which would be those of others. */
function bound() {
  return (tree: { readonly children: readonly (Child | { readonly type: string })[] }): void => {
    const open = tree.children.map((node) => ({ node: node as Child, depth: 1 }));
    let count = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, depth } = next;
      if (node.type !== 'element') continue;
      count += 1;
      if (count > maxElements || depth > maxDepth) throw new RangeError('too much Markdown');
      delete node.properties['id'];
      delete node.properties['ariaDescribedBy'];
      for (const child of node.children) open.push({ node: child, depth: depth + 1 });
    }
  };
}

const options: Options = {
  remarkPlugins: [[remarkGfm, { singleTilde: false }]],
  rehypePlugins: [bound, headingLevels],
  // SafeLink decides what is a link.
  urlTransform: (url) => url,
};

function wordsOf(node: Tree | undefined): string {
  const open: Child[] = [...(node?.children ?? [])].toReversed();
  let words = '';
  for (let next = open.pop(); next !== undefined && words.length < 2000; next = open.pop()) {
    if (next.type === 'text') words += next.value;
    if (next.type === 'element') open.push(...next.children.toReversed());
  }
  return words;
}

/** Made when first asked for: a module's constants further below are not there before. */
let withoutFiles: Components | undefined;
const withFiles = new WeakMap<ShowFile, Components>();

function componentsWith(file: ShowFile | undefined): Components {
  if (file === undefined) return (withoutFiles ??= componentsFor(undefined));
  const known = withFiles.get(file) ?? componentsFor(file);
  withFiles.set(file, known);
  return known;
}

function componentsFor(file: ShowFile | undefined): Components {
  return {
    ...plainComponents,
    a: ({ href, node, children }) => (
      <SafeLink href={href} words={wordsOf(node)} file={file}>
        {children}
      </SafeLink>
    ),
    img: ({ src, alt }) => (
      <SafeLink href={typeof src === 'string' ? src : ''} words="" file={file}>
        {alt === undefined || alt === '' ? 'Picture' : `Picture: ${alt}`}
      </SafeLink>
    ),
  };
}

/** Below the headings of a page, whatever level the text gives itself. */
function headingOf(level: 3 | 4 | 5 | 6, look: string) {
  const Tag = `h${level}` as const;
  return ({ children }: { children?: ReactNode }): ReactElement => <Tag className={look}>{children}</Tag>;
}

const plainComponents: Components = {
  h1: headingOf(3, 'text-lg font-semibold'),
  h2: headingOf(4, 'text-base font-semibold'),
  h3: headingOf(5, 'font-semibold'),
  h4: headingOf(6, 'font-semibold text-muted'),
  h5: headingOf(6, 'font-medium text-muted'),
  h6: headingOf(6, 'font-medium text-muted'),
  p: ({ children }) => <p className="whitespace-pre-line">{children}</p>,
  ul: ({ children }) => <ul className="flex list-disc flex-col gap-1 pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="flex list-decimal flex-col gap-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children, className }) => (
    <li className={cx('[&>ol]:mt-1 [&>ul]:mt-1', className === 'task-list-item' && '-ml-5 list-none')}>{children}</li>
  ),
  blockquote: ({ children }) => (
    <blockquote className="flex flex-col gap-3 border-l-2 border-line pl-3 text-muted">{children}</blockquote>
  ),
  hr: () => <hr className="border-line" />,
  code: ({ children }) => (
    <code className="rounded border border-line bg-sunken px-1 py-px font-mono text-[0.8125rem] box-decoration-clone">
      {children}
    </code>
  ),
  pre: ({ node }) => {
    const inner = node?.children[0];
    const names = inner?.type === 'element' ? inner.properties['className'] : undefined;
    const language =
      Array.isArray(names) && typeof names[0] === 'string' ? names[0].replace(/^language-/, '') : undefined;
    return <CodeBlock code={wholeText(inner)} language={language} />;
  },
  input: ({ checked }) => (
    <span aria-label={checked === true ? 'Done' : 'Not done'}>{checked === true ? '☑' : '☐'}</span>
  ),
  table: ({ children }) => (
    <div
      role="group"
      aria-label="Table"
      tabIndex={0}
      className="w-fit max-w-full overflow-x-auto rounded-control border border-line"
    >
      <table className="w-full text-left [&_tr]:border-b [&_tr]:border-line [&_tr:last-child]:border-0">
        {children}
      </table>
    </div>
  ),
  th: ({ children, style }) => (
    <th scope="col" className={cx('bg-sunken px-3 py-2 font-medium', alignment(style))}>
      {children}
    </th>
  ),
  td: ({ children, style }) => <td className={cx('px-3 py-2 align-top', alignment(style))}>{children}</td>,
};

const alignment = (style: ComponentProps<'td'>['style']): string | undefined =>
  style?.textAlign === 'right' ? 'text-right' : style?.textAlign === 'center' ? 'text-center' : undefined;

/** The text of a block of code, which is one node. */
function wholeText(node: Child | undefined): string {
  const [first] = node?.type === 'element' ? node.children : [];
  return first?.type === 'text' ? first.value.replace(/\n$/, '') : '';
}
