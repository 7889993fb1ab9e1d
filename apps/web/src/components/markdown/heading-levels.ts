/** Gives the headings of a text the levels below the page's own, without a gap: whoever wrote it began where they liked. */
interface Node {
  readonly type: string;
  tagName?: string;
  readonly children?: readonly Node[];
}

const heading = /^h[1-6]$/;

export function headingLevels() {
  return (tree: Node): void => {
    /** The levels as they were written of the headings around this one. */
    const around: number[] = [];
    const visit = ({ children = [] }: Node): void => {
      for (const node of children) {
        if (node.tagName !== undefined && heading.test(node.tagName)) {
          const written = Number(node.tagName.slice(1));
          while (around.length > 0 && around.at(-1)! >= written) around.pop();
          around.push(written);
          node.tagName = `h${around.length}`;
        }
        visit(node);
      }
    };
    visit(tree);
  };
}
