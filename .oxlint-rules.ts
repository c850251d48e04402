// Rules of our own for the linter (oxlint.config.ts).

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly argument?: Node;
  readonly arguments?: readonly Node[];
  readonly object?: Node;
  readonly params?: readonly Node[];
  readonly parent?: Node | null;
}

interface Context {
  report(problem: { readonly node: Node; readonly message: string }): void;
}

const MESSAGE =
  'Each element becomes an argument on the stack, and some 100,000 of them are a RangeError: use a loop, or byteText().';

/** `f(...values)`: allowed are the rest parameter of a function around it, and a constant. */
const noSpreadArguments = {
  create(context: Context): Record<string, (call: Node) => void> {
    const check = (call: Node): void => {
      for (const argument of call.arguments ?? []) {
        if (argument.type !== 'SpreadElement' || argument.argument === undefined) continue;
        if (!isConstant(argument.argument) && !isRestParameter(argument.argument, call)) {
          context.report({ node: argument, message: MESSAGE });
        }
      }
    };
    return { CallExpression: check, NewExpression: check };
  },
};

function isConstant(node: Node): boolean {
  const root = node.type === 'MemberExpression' ? node.object : node;
  return root?.type === 'Identifier' && /^[A-Z][A-Z\d_]*$/.test(root.name ?? '');
}

function isRestParameter({ type, name }: Node, from: Node): boolean {
  if (type !== 'Identifier') return false;
  for (let node: Node | null | undefined = from; node; node = node.parent) {
    if (node.params?.some((one) => one.type === 'RestElement' && one.argument?.name === name)) return true;
  }
  return false;
}

export default { meta: { name: 'pointsman' }, rules: { 'no-spread-arguments': noSpreadArguments } };
