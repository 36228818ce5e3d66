// A web server by node.
"use strict";
const http = require("http");

const server = http.createServer((request, response) => {
  const parts = [];
  const answer = () => {
    const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/";
    const note = request.headers.note || "";
    const head = Buffer.from(`${request.method} ${path} note=${note} body=`, "latin1");
    const content = Buffer.concat([head, ...parts]);
    const end = () => {
      response.writeHead(200, { "Content-Length": content.length, Saw: request.method });
      response.end(request.method === "HEAD" ? undefined : content);
    };
    if (request.url === "/later") setTimeout(end, 10);
    else end();
  };
  if (request.url === "/skip") {
    answer();
    return;
  }
  request.on("data", (part) => parts.push(part));
  request.on("end", answer);
});
server.keepAliveTimeout = 600000;
server.headersTimeout = 700000;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
