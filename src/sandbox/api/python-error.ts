// The error page of Python's http.server (BaseHTTPRequestHandler.send_error). Patroni answers with it where it has no
// text of its own.
import { STATUS_CODES } from 'node:http';
import type { ManagerAnswer } from './api-answer.ts';

const EXPLANATIONS: Readonly<Record<number, string>> = {
  400: 'Bad request syntax or unsupported method',
  501: 'Server does not support this operation',
};

export function pythonError(status: number, message: string = STATUS_CODES[status] ?? ''): ManagerAnswer {
  const body = `<!DOCTYPE HTML>
<html lang="en">
    <head>
        <meta charset="utf-8">
        <title>Error response</title>
    </head>
    <body>
        <h1>Error response</h1>
        <p>Error code: ${status}</p>
        <p>Message: ${message.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}.</p>
        <p>Error code explanation: ${status} - ${EXPLANATIONS[status] ?? message}.</p>
    </body>
</html>
`;
  return { status, content: { type: 'text/html;charset=utf-8', body } };
}
