// B, the baseline: a minimal proxy on Bun. Forwards the request body with fetch and returns the
// response body. No keys, limits or money. Started as a process with the upstream's URL; prints its
// address.

const target = process.argv[2] ?? '';

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await request.text(),
    });
    const type = answer.headers.get('content-type') ?? 'application/json';
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': type } });
  },
});
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
